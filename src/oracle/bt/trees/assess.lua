-- What kind of question it is, and whether it continues the conversation.
--
-- After a topic shift the question is classified by itself, and what was gathered before does not count as evidence.

local assess = BT.leaves("oracle.bt.actions.assess")

BT.tree("assess", {
  root = BT.sequence("assess", {
    assess.recall_conversation,
    assess.notice_topic_shift,
    assess.classify,
  }),
})
