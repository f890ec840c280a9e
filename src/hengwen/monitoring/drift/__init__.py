"""``hengwen drift``: do checkpoints differ, and is the difference larger than usual between checkpoints?"""
