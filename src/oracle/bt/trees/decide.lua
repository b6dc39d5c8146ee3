-- What a response leads to. The first branch that fits is taken.
--
-- BT.exit("turns") ends the run. Every other branch lets the turn go on to its tool calls.

local reply = BT.leaves("oracle.bt.conditions.reply")           -- what the response contains and leaves undone
local answer = BT.leaves("oracle.bt.conditions.answer")         -- what is wrong with it as an answer
local evidence = BT.leaves("oracle.bt.conditions.evidence")     -- what has been gathered
local capability = BT.leaves("oracle.bt.conditions.capability") -- what a need_capability signal asks for
local coverage = BT.leaves("oracle.bt.conditions.coverage")
local ledger = BT.leaves("oracle.bt.conditions.budget")
local turn = BT.leaves("oracle.bt.actions.turn")
local calls = BT.leaves("oracle.bt.actions.calls")
local note = BT.leaves("oracle.bt.actions.note")                -- counters
local tell = BT.leaves("oracle.bt.actions.tell")                -- messages to the model
local say = BT.leaves("oracle.bt.actions.say")                  -- messages to the user
local grant = BT.leaves("oracle.bt.actions.grants")
local finish = BT.leaves("oracle.bt.actions.finish")            -- ways to end
local partly = BT.leaves("oracle.bt.actions.partly")            -- ways to end because of what the answer itself is

local WEAK_SIGNAL = 0.3    -- an answer with a confidence below this is not whole

-- Shares of the question's words. Right answers nearly always have more, in other words too: they say what was asked.
local SPOKEN_OF = { of_found = 0.5, of_all = 0.4 }

-- An answer that is beside the question: no cited place, with ten lines around it, has half as many of the question's
-- words as the best place has.
local BESIDE = { part = 0.5 }
-- If the model was not ready to answer: the places that it cites have so many of those words of the question that were
-- found.
local COVERED = { share = 0.6 }

-- How often the model is asked again before the tree decides without it.
local DOUBTS = 1           -- the 2nd text that nothing backs, announces work, or lacks the write asked for, ends the run
local EMPTY_RESPONSES = 2  -- the 3rd empty response ends the run
local MALFORMED = 1        -- with the 2nd unreadable signal the text counts without one
local REFUSALS = 2         -- the 3rd wish for what no tool can do is the end of the search, if it has found something
local DELEGATIONS = 1      -- the 2nd wish to delegate needs calls of its own, or it is the end of the search

local function on(signal, branch)
  return BT.sequence(signal, { BT.expect("signal is " .. signal, "bb.signal.type == '" .. signal .. "'"), branch })
end

-- The response is the answer. This is the only way to the stop reason `answered`, however the run comes to its end.
local function end_with_the_answer()
  return BT.selector("answer is whole or partial", {
    BT.sequence("only announces work", { reply.only_announces_work, finish.without_an_answer }),
    BT.sequence("nothing backs it", { evidence.is_missing, finish.ungrounded }),
    BT.sequence("found beside the question", { evidence.lacks_what_was_asked_for, finish.beside_the_question }),
    BT.sequence("says itself that it is none", { answer.says_itself_that_it_is_none, partly.as_it_says_itself }),
    BT.sequence("says nothing", { answer.says_nothing, partly.without_a_statement }),
    BT.sequence("answers something else", {
      reply.is_about_something_else(SPOKEN_OF),
      finish.about_something_else(SPOKEN_OF),
    }),
    BT.sequence("cites what was not read", { answer.cites_only_what_was_not_read, partly.from_nothing_read }),
    BT.sequence("cites other places", { answer.cites_places_beside_the_question(BESIDE), partly.from_other_places }),
    BT.sequence("was forced too early", {
      BT.expect("tools were withdrawn", "bb.is_last_turn"),
      answer.is_not_covered_by_its_places(COVERED),
      partly.as_it_was_forced,
    }),
    BT.sequence("a list is not whole", { answer.lacks_parts_of_a_list, partly.with_parts_unread }),
    BT.sequence("speaks of one part only", { answer.speaks_of_one_part_only, partly.with_one_part_only }),
    BT.sequence("a part is left open", { reply.leaves_a_part_open, finish.with_a_part_open }),
    BT.sequence("it was cut", {
      BT.selector("has no end", {
        BT.expect("did not end by itself", "bb.response.ending.kind ~= 'whole'"),
        reply.stops_in_mid_sentence,
      }),
      finish.cut_short,
    }),
    BT.sequence("model is not sure", { reply.has_a_weak_signal { below = WEAK_SIGNAL }, finish.unsure }),
    BT.sequence("model wants more", { reply.asks_for_more, finish.wants_more }),
    BT.sequence("calls are left", { reply.has_calls_to_run, finish.with_calls_left }),
    BT.sequence("a write is missing", { reply.leaves_a_write_undone, finish.without_a_write }),
    finish.answered,
  })
end

-- A first text that nothing backs goes back to the model, tools in hand.
local function send_back_to_search()
  return BT.sequence("send it back to search", {
    evidence.is_missing,
    BT.expect("not doubted before", "bb.doubts < " .. DOUBTS),
    BT.selector("more can be searched", {
      evidence.a_reading_tool_is_unused,
      BT.invert("not all was searched", evidence.was_not_found_anywhere),
    }),
    BT.selector("a tool can search", { evidence.a_reading_tool_is_on_offer, BT.subtree("more tools") }),
    ledger.allows_another_turn,
    say.verdict { verdict = "not_believed", reason = "nothing was gathered" },
    BT.later("search first"),
  })
end

-- A question that orders a write is not answered by a text. The first such text goes back too.
local function send_back_to_write()
  return BT.sequence("send it back to write", {
    reply.has_not_tried_the_ordered_write,
    BT.invert("no call to run", reply.has_calls_to_run),
    BT.expect("not doubted before", "bb.doubts < " .. DOUBTS),
    ledger.allows_another_turn,
    say.verdict { verdict = "not_believed", reason = "nothing was written" },
    BT.later("write first"),
  })
end

-- "Let me look at the tests" is not an answer, and nobody would look. The first such text goes back as well.
local function send_back_to_work()
  return BT.sequence("send it back to work", {
    reply.only_announces_work,
    BT.expect("not doubted before", "bb.doubts < " .. DOUBTS),
    ledger.allows_another_turn,
    say.verdict { verdict = "not_believed", reason = "it only announces work" },
    BT.later("do what was announced"),
  })
end

local function ask_for_the_answer(name)
  return BT.sequence(name, { grant.withdraw_all { stop = "" }, tell.answer_now })
end

local function ask_for_what_there_is()
  return BT.sequence("last turn without tools", { grant.withdraw_all { stop = "stuck" }, tell.answer_from_what_there_is })
end

local function ask_again_or_give_up()
  return BT.selector("empty response", {
    BT.sequence("empty too often", {
      BT.expect("was asked again before", "bb.empty_responses >= " .. EMPTY_RESPONSES),
      say.verdict { verdict = "gave_up", reason = "the response has no text again" },
      finish.gave_empty_responses,
      BT.exit("turns"),
    }),
    BT.sequence("ask again", {
      note.empty_response,
      say.verdict { verdict = "asked_again", reason = "the response has no text" },
      tell.response_was_empty,
    }),
  })
end

BT.tree("decide", {
  root = BT.selector("decide", {
    -- A response that was cut is not read for a decision. The model hears of it at the end of the turn, after a crash
    -- from the turn itself, after a text that repeated itself from "circles".
    BT.sequence("response was cut", {
      BT.expect("did not end", "not bb.response.is_complete"),
      BT.selector("is it the last turn", {
        -- After a text without an end the tools were withdrawn, and this is the next one of that kind.
        BT.sequence("its text has no end again", {
          BT.expect("in the last turn too", "bb.is_last_turn and bb.is_runaway and bb.loop ~= nil and bb.loop.kind == 'endless'"),
          say.verdict { verdict = "gave_up", reason = "its text has no end again" },
          finish.gave_empty_responses,
          BT.exit("turns"),
        }),
        BT.expect("another turn follows", "not (bb.is_last_turn and bb.is_runaway)"),
        ask_again_or_give_up(),
      }),
    }),
    -- The provider's own word counts more than a signal. Waiting or asking again would not help.
    BT.sequence("model declined", {
      BT.expect("is a refusal", "bb.response.ending.kind == 'refusal'"),
      finish.declined,
      BT.exit("turns"),
    }),
    BT.sequence("filter stopped it", {
      BT.expect("was filtered", "bb.response.ending.kind == 'filter'"),
      finish.filtered,
      BT.exit("turns"),
    }),

    -- It was continued as far as there was room. The last turn has the reserve, for a shorter answer.
    BT.sequence("answer was too long", {
      BT.expect("reached the longest output", "bb.response.ending.kind == 'length' and not bb.is_last_turn"),
      BT.invert("no call to run", reply.has_calls),
      reply.has_text,
      evidence.backs_the_claim, -- else it is sent back to search, tools in hand
      BT.sequence("ask for a shorter one", { grant.withdraw_all { stop = "" }, tell.answer_in_less }),
    }),

    -- The tools were withdrawn before, so any text is the answer; its signal says how good it is.
    BT.sequence("last turn", {
      BT.expect("tools were withdrawn", "bb.is_last_turn"),
      BT.selector("text or nothing", {
        -- "I need a shell for that" is not an answer, and there is something to answer from.
        BT.sequence("wants more instead of answering", {
          reply.only_asks_for_more,
          evidence.was_gathered,
          BT.expect("not asked again too often", "bb.empty_responses < " .. EMPTY_RESPONSES),
          ledger.allows_another_turn,
          note.empty_response,
          say.verdict { verdict = "asked_again", reason = "it asks for more instead of answering" },
          tell.nothing_more_is_granted,
        }),
        BT.sequence("text ends the run", {
          reply.has_text,
          turn.join_the_pieces,
          BT.selector("how good the answer is", {
            on("context_sufficient", end_with_the_answer()),
            on("partial_answer", BT.sequence("partial answer", { finish.show_what_is_missing, finish.partial })),
            on("stuck", finish.stuck),
            BT.sequence("for the reason of the withdrawal", {
              BT.expect("a reason was given", "bb.stop_after_last_turn ~= ''"),
              BT.selector("is it an answer", {
                BT.sequence("only announces work", { reply.only_announces_work, finish.without_an_answer }),
                finish.as_announced,
              }),
            }),
            end_with_the_answer(),
          }),
          BT.exit("turns"),
        }),
        ask_again_or_give_up(),
      }),
    }),

    on("need_turn", BT.selector("another turn", {
      BT.expect("tools are withdrawn", "bb.tools_withdrawn"), -- by the fallback: the next turn is the last anyway
      BT.sequence("turn is granted", { ledger.allows_another_turn, tell.another_turn_is_granted }),
      -- Only if this very response used up a budget: before it there was room.
      BT.sequence("turn is refused", {
        say.verdict { verdict = "refused", reason = "a budget is used up" },
        finish.at_limit,
        BT.exit("turns"),
      }),
    })),

    on("context_sufficient", BT.selector("claim checked", {
      send_back_to_write(),
      BT.sequence("claim is believed", {
        evidence.backs_the_claim,
        calls.refuse_searches, -- they contradict the claim; a call that writes does not, and is run
        BT.selector("answer or ask for it", {
          BT.sequence("calls tools too", { reply.has_calls_to_run, ask_for_the_answer("answer instead of searching") }),
          BT.sequence("only announces work", { reply.only_announces_work, ask_for_the_answer("ask for the answer") }),
          BT.sequence("answers", { reply.has_text, turn.join_the_pieces, end_with_the_answer(), BT.exit("turns") }),
          ask_for_the_answer("ask for the answer"),
        }),
      }),
      BT.sequence("searches after all", {
        reply.has_calls_to_run,
        say.verdict { verdict = "not_believed", reason = "nothing was gathered, but it searches" },
      }),
      send_back_to_search(),
      BT.sequence("partial answer", { reply.has_text, finish.ungrounded, BT.exit("turns") }),
      ask_for_what_there_is(),
    })),

    -- The fallback was consulted before this; asking for a strategy twice is asking once.
    on("stuck", BT.sequence("try another way", {
      say.verdict { verdict = "strategy_changed" },
      BT.later("change strategy"),
    })),

    -- One request may name several things. Each of them gets an answer.
    on("need_capability", BT.selector("find a tool for it", {
      BT.expect("tools are withdrawn", "bb.tools_withdrawn"), -- by the fallback: the next turn is the last anyway
      BT.sequence("all of it was refused before", { capability.all_of_it_was_refused_before, ask_for_what_there_is() }),
      -- There is always one more thing to wish for. What was found has to do; calls in the same response go on.
      BT.sequence("was refused too often", {
        BT.expect("not the first wishes", "#bb.gaps >= " .. REFUSALS),
        capability.no_tool_can_do_it,
        BT.invert("no call to run", reply.has_calls_to_run),
        evidence.was_gathered,
        grant.admit_the_gaps,
        ask_for_what_there_is(),
      }),
      BT.sequence("consider all of it", {
        BT.guard("tools that read", { capability.a_reading_tool_can_do_it, grant.reading_tools }),
        BT.guard("tools that write", {
          capability.a_writing_tool_can_do_it,
          BT.selector("may it write", {
            BT.sequence("granted before", { capability.all_of_them_are_granted, grant.remind_of_granted_tools }),
            BT.sequence("nobody can be asked", {
              BT.expect("no person is there", "not bb.can_ask"),
              grant.refuse_writing_tools { by = "the tree: nobody could be asked" },
            }),
            BT.timeout("while time is left", {
              seconds = "seconds_left",
              grant.writing_tools_if_a_person_agrees,
            }),
            -- The person took all the time there was, so the budget ends the run after this turn.
            grant.refuse_writing_tools("nobody answered", { by = "a person who did not answer in time" }),
          }),
        }),
        BT.guard("what no tool can do", { capability.a_part_is_beyond_every_tool, grant.admit_the_gaps }),
      }),
    })),

    on("partial_answer", BT.selector("end or ask for the text", {
      BT.sequence("calls come first", {
        reply.has_calls_to_run,
        say.verdict { verdict = "granted", reason = "its calls are run first" },
      }),
      BT.sequence("ends with a partial answer", {
        reply.has_text,
        turn.join_the_pieces,
        finish.show_what_is_missing,
        finish.partial,
        BT.exit("turns"),
      }),
      ask_for_the_answer("ask for the answer"),
    })),

    on("delegation_recommended", BT.sequence("delegation", {
      note.delegation,
      BT.selector("split the work", {
        BT.sequence("tree reads every part", {
          coverage.can_be_covered,
          say.verdict { verdict = "granted", reason = "the tree reads every part" },
          BT.later("cover every part"),
        }),
        BT.sequence("model goes on alone", {
          BT.selector("it can go on", {
            BT.expect("first wish to delegate", "#bb.delegations <= " .. DELEGATIONS),
            reply.has_calls,
          }),
          tell.go_on_alone,
        }),
        ask_for_what_there_is(),
      }),
    })),

    -- From here on there is no signal that could be read.
    reply.has_calls("calls without a signal"),
    BT.sequence("text without a signal", {
      reply.has_text,
      BT.selector("send it back or end", {
        send_back_to_write(),
        send_back_to_search(),
        send_back_to_work(),
        BT.sequence("unreadable signal", {
          BT.expect("first of its kind", "bb.response.malformed and bb.malformed_responses <= " .. MALFORMED),
          tell.give_a_readable_signal,
        }),
        -- The provider did not say that it was cut, so it was not continued. It is asked for again, without tools: what
        -- it was written from is there.
        BT.sequence("stops in mid-sentence", {
          reply.stops_in_mid_sentence,
          evidence.backs_the_claim,
          ledger.allows_another_turn,
          say.verdict { verdict = "asked_again", reason = "the text stops in mid-sentence" },
          grant.withdraw_all { stop = "" },
          tell.response_was_cut_off,
        }),
        BT.sequence("text is the answer", { turn.join_the_pieces, end_with_the_answer(), BT.exit("turns") }),
      }),
    }),
    ask_again_or_give_up(),
  }),
})
