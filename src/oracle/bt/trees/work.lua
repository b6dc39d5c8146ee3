-- The tool calls of a response: screened, run side by side, and their results weighed.

local reply = BT.leaves("oracle.bt.conditions.reply")
local evidence = BT.leaves("oracle.bt.conditions.evidence") -- is_enough and was_not_found_anywhere: services/control/sufficiency.py
local coverage = BT.leaves("oracle.bt.conditions.coverage")
local capability = BT.leaves("oracle.bt.conditions.capability")
local ledger = BT.leaves("oracle.bt.conditions.budget")
local calls = BT.leaves("oracle.bt.actions.calls")
local approvals = BT.leaves("oracle.bt.actions.approvals")
local grant = BT.leaves("oracle.bt.actions.grants")
local tell = BT.leaves("oracle.bt.actions.tell")

local FAILURES = 2          -- the 2nd failed call: one may be a slip, two need advice
local GUESSES = 2           -- reads that failed; a 3rd is run only if something names its place
local CALLS_A_STRATEGY = 3  -- a strategy that brings nothing in three calls has had its chance
local MOST_WORDS = 0.6      -- with this share of the question's words found, an answer is probably there
-- So many calls that bring no other word of the question: more will hardly do.
local GATHERING = { calls = 3, share = MOST_WORDS }

-- Eight calls side by side are usual. Of more, so many of one tool are run: who sees these results may not need the rest.
local AT_ONCE = { usual = 8, searches = 2, reads = 3, overviews = 1 }
local OVERVIEWS = 3 -- lists and maps; more of them, without a new word of the question, lead nowhere
-- When enough is there, the first reads are still run, and calls that follow a name that was read.
local STILL_RUN = { reads = 3, leads = 6 }

-- Each of the last five calls found something new, in ten files by now: the question is broad after all.
local SPREAD = { turns = 5, calls = 5, files = 10 }

BT.tree("work", {
  root = BT.guard("response has calls", {
    reply.has_calls,
    BT.sequence("work", {
      BT.sequence("screen the calls", {
        calls.refuse_ungranted,
        calls.refuse_half_written,
        calls.refuse_without_arguments,
        calls.refuse_calls_refused_before,
        calls.refuse_overlapping(AT_ONCE),
        calls.refuse_searches_in_vain,
        calls.refuse_guesses { failures = GUESSES },
        calls.refuse_lines_shown_before,
        calls.mark_leads,
        calls.refuse_more_overviews { overviews = OVERVIEWS },
        BT.guard("was told to answer", {
          "bb.words_when_told == #bb.words_found", -- and no other word of the question has come since
          calls.refuse_more_of_the_same(STILL_RUN),
        }),
        calls.refuse_used_up,
      }),
      BT.subtree("ask for a yes"),
      calls.note_the_time_left,
      BT.selector("run them in time", {
        BT.timeout("while time is left", { seconds = "seconds_left", calls.run }),
        BT.sequence("stop in time for the last answer", {
          ledger.only_the_last_answer_is_left, -- what has arrived is kept, and the next turn begins without tools
          calls.answer_unfinished,
        }),
        BT.subtree("end in the middle of a turn"),
      }),

      BT.guard("calls have failed", {
        evidence.calls_have_failed { failures = FAILURES },
        BT.once("advise once", tell.how_to_recover_from_errors),
      }),
      BT.guard("enough was found", { evidence.is_enough, BT.once("say so once", tell.enough_was_found) }),
      BT.guard("gathers on", {
        evidence.more_calls_add_nothing(GATHERING),
        BT.guard("not told or not heeded", {
          "bb.words_when_told ~= #bb.words_found or #bb.surplus > 0",
          BT.ladder("against gathering on", {
            restart = "bb.words_when_told ~= #bb.words_found",
            tell.answer_or_name_what_is_open,
            BT.expect("calls were answered with not run", "#bb.surplus > 0"),
            BT.sequence("answer without tools", { grant.withdraw_all { stop = "" }, tell.answer_now }),
          }),
        }),
      }),
      BT.guard("evidence keeps spreading", {
        coverage.evidence_keeps_spreading(SPREAD),
        BT.always_succeed("if that helps", BT.sequence("read every part", {
          BT.invert("not only more of the same", evidence.more_calls_add_nothing { calls = 1, share = MOST_WORDS }),
          coverage.can_be_covered,
          BT.later("cover every part"),
        })),
      }),
      BT.guard("nothing was found anywhere", {
        evidence.was_not_found_anywhere,
        BT.once("react once", BT.sequence("try another way", { tell.nothing_was_found, BT.later("change strategy") })),
      }),
      -- For something that does not exist, other words could be tried without end.
      BT.guard("no source knows the name", {
        evidence.no_source_knows_the_name,
        BT.once("end the search", BT.sequence("last turn without tools", {
          grant.withdraw_all { stop = "" },
          tell.answer_from_what_there_is,
        })),
      }),
      BT.guard("searches for the same in vain", {
        evidence.only_repeats_searches_in_vain,
        BT.later("change strategy"), -- the last one was not heeded
      }),
      -- It was advised to search, and guesses on. What it looks for is then searched for by the tree, if nobody has.
      BT.guard("guesses at places", {
        evidence.only_guesses_places,
        BT.selector("search for it", {
          BT.sequence("nobody has searched", {
            evidence.is_only_an_overview, -- or nothing at all
            coverage.can_be_covered,
            BT.later("cover every part"),
          }),
          BT.later("change strategy"),
        }),
      }),
      BT.guard("strategy finds nothing either", {
        evidence.strategies_keep_finding_nothing { calls = CALLS_A_STRATEGY, share = MOST_WORDS },
        BT.later("change strategy"),
      }),
    }),
  }),
})

-- A tool of the user that writes: a person says yes to each call, whatever the question says.
BT.tree("ask for a yes", {
  root = BT.guard("a call needs a yes", {
    capability.a_call_needs_a_yes,
    BT.sequence("ask about each call", {
      calls.note_the_time_left,
      BT.selector("yes or no", {
        BT.sequence("nobody can be asked", {
          BT.expect("no person is there", "not bb.can_ask"),
          approvals.refuse_calls_without_a_yes { by = "nobody could be asked" },
        }),
        BT.timeout("while time is left", { seconds = "seconds_left", approvals.ask_about_each_call }),
        approvals.refuse_calls_without_a_yes("nobody answered", { by = "nobody answered in time" }),
      }),
    }),
  }),
})
