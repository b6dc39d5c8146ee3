"""Compares two runs of one question: what each did, what it brought, and which was better."""
