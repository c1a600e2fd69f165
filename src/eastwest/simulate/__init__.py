"""What will happen: completion times, link loads, queues, pauses, marks and drops, from three engines of one result
type.
"""
