"""What a recorded run did, as data for people: turns, calls, decisions and costs."""
