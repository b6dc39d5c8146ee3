-- What kind of question it is, and whether it continues the conversation.
--
-- Where the class is unsure, BERT is asked as well, if it is installed (docs/bert.md). It never keeps a run waiting.
-- After a topic shift the question is classified by itself, and what was gathered before does not count as evidence.

local assess = BT.leaves("oracle.bt.actions.assess")
local evidence = BT.leaves("oracle.bt.conditions.evidence")
local second_opinion = BT.leaves("oracle.bt.conditions.fallback")

local UNSURE = 0.9 -- below this confidence of the class, a second opinion is asked for

BT.tree("assess", {
  root = BT.sequence("assess", {
    assess.recall_conversation,
    assess.notice_topic_shift,
    assess.classify,
    BT.always_succeed("second opinion", BT.sequence("second opinion on the class", {
      second_opinion.bert_is_used_for { use = "classification" },
      BT.expect("class is unsure", "bb.classification.confidence < " .. UNSURE),
      assess.weigh_second_opinion,
    })),
    -- Two words without a verb may be small talk or a search. If one place here has all of them, it is a search.
    BT.guard("is a search", { evidence.is_a_search_for_what_is_here, assess.take_for_a_search }),
  }),
})
