"""OpenAI's protocol, so that its clients can ask the project.

The last message of the user is the question, the messages before it are the history. Progress is
sent as reasoning and never as content. What a client wants to have controlled (tools, several
answers, a form of the response) is refused, because the tree controls that.
"""
