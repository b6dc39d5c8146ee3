-- What kind of question is it, and does it go on from what was said before?
--
-- Where the topic has shifted, the question is classified by itself, and what was gathered earlier no longer
-- counts as evidence for it.

BT.tree("assess", {
  root = BT.sequence("assess", {
    BT.action("recall the conversation", { fn = "oracle.bt.actions.assess.recall_the_conversation" }),
    BT.action("notice a topic shift", { fn = "oracle.bt.actions.assess.notice_topic_shift" }),
    BT.action("classify", { fn = "oracle.bt.actions.assess.classify" }),
  }),
})
