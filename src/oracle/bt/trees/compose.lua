-- The first request: the tools that the class of the question gets, a prompt that names just these tools, the
-- conversation as far as there is room, and the question.

local compose = BT.leaves("oracle.bt.actions.compose")
local grant = BT.leaves("oracle.bt.actions.grants")
local evidence = BT.leaves("oracle.bt.conditions.evidence")
local coverage = BT.leaves("oracle.bt.conditions.coverage")
local tell = BT.leaves("oracle.bt.actions.tell")

-- Confidences of the classifier, from 0 to 1. They are calibrated: 0.8 is right in about 8 of 10 cases.
local SURE_OF_AN_ACTION = 0.8 -- from here on a request to write gets writing tools without a person's yes
local SURE_OF_THE_WEB = 0.9   -- from here on a question about the world outside is not asked of the project
local SURE_OF_A_CLASS = 0.6   -- below this the class may be wrong, so the tools of the second class are granted too
-- Shares of the question's words that the best place of a source has (services/control/first_look.py).
local MOST_WORDS = 0.6        -- from here on an answer is probably there
local REASONS = 0.5           -- notes and threads with so many of them may say why
local POOR = 0.7              -- a source with at most this part of what the best one has is kept for later

BT.tree("compose", {
  root = BT.sequence("compose", {
    compose.grant_first_tools {
      sure_of_an_action = SURE_OF_AN_ACTION,
      sure_of_a_class = SURE_OF_A_CLASS,
      sure_of_the_web = SURE_OF_THE_WEB,
    },
    -- Where the words of the question are, an answer probably is. A source that lacks them is offered when the others
    -- lead nowhere (escalate.lua).
    BT.always_succeed("by its words", BT.sequence("prefer sources with its words", {
      BT.expect("is only to be answered", "bb.classification.query_type ~= 'action'"),
      BT.expect("says all by itself", "#bb.history == 0 or bb.topic_shift"),
      BT.invert("is not broad", BT.subtree("question is broad")),
      BT.invert("is not about every use", coverage.every_use_of_a_name_is_asked_for),
      compose.prefer_sources_with_its_words { most = MOST_WORDS, part = POOR, reasons = REASONS },
    })),
    -- With a single turn nobody would read what a tool returns.
    BT.guard("there is only one turn", { "bb.limits.turns <= 1", grant.withdraw_all { stop = "" } }),
    BT.guard("only the web could answer", {
      evidence.only_the_web_could_bring_it { sure = SURE_OF_THE_WEB, here = MOST_WORDS },
      BT.sequence("say so at once", { grant.do_without_the_web, grant.withdraw_all { stop = "partial_answer" } }),
    }),
    compose.announce_question,
    compose.write_prompt, -- the same for all questions of a type, so that providers can cache it
    compose.add_facts,    -- what differs: the date, the project, the budget
    compose.add_history,
    compose.add_question,
    compose.add_attached_files, -- they count as evidence, as if they had been read
    BT.guard("the web is missing", { "#bb.gaps > 0", tell.there_is_no_web }),
  }),
})
