"""``hengwen drift``: do checkpoints differ, and is that more than checkpoints usually move?"""
