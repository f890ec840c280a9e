"""Do checkpoints differ, and is that more than checkpoints usually move?"""
