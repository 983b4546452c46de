"""Small faults, seeded into a copy of the code one at a time: does the suite see them?"""
