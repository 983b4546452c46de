"""Which test shows which report about streams, wires and the transport."""

from typing import Final

TEXT: Final = "test_chat_decode.py::TestText"
CALLS: Final = "test_chat_decode.py::TestCalls"
THINKING: Final = "test_chat_decode.py::TestThinking"
USAGE: Final = "test_chat_decode.py::TestUsage"
FINISH: Final = "test_chat_decode.py::TestFinish"
REFUSALS: Final = "test_chat_decode.py::TestRefusals"
CUTS: Final = "test_chat_decode.py::TestCuts"
INSIDE: Final = "test_chat_decode.py::TestErrorsInsideASuccess"
MESSAGES: Final = "test_messages_decode.py"
STATUSES: Final = "test_responses_decode.py::TestStatuses"
CONNECTIONS: Final = "test_transport.py::TestConnections"

STREAMS: Final = {
    26: f"{TEXT}::test_a_chunk_without_choices_is_passed_over",
    27: f"{USAGE}::test_comes_after_the_reply",
    28: f"{TEXT}::test_a_choice_may_lack_its_finish_reason",
    29: f"{CALLS}::test_at_one_index_with_different_ids",
    30: f"{CALLS}::test_at_one_index_without_ids",
    31: f"{CALLS}::test_at_one_index_with_one_name",
    32: f"{CALLS}::test_without_an_index",
    33: f"{CALLS}::test_that_come_by_turns",
    35: f"{CALLS}::test_whose_name_comes_late",
    36: f"{CALLS}::test_whose_id_comes_late",
    37: f"{CALLS}::test_empty_text_is_no_text",
    38: f"{CALLS}::test_whose_name_is_repeated",
    39: f"{CALLS}::test_with_a_placeholder_for_arguments",
    40: f"{CALLS}::test_with_an_object_for_arguments",
    41: f"{CALLS}::test_with_an_object_for_arguments_streamed",
    42: f"{MESSAGES}::TestCalls::test_may_have_no_arguments",
    43: f"{CALLS}::test_without_arguments",
    44: "test_sse.py::test_a_character_may_be_cut_anywhere",
    46: "test_sse.py::test_a_crlf_pair_may_be_cut",
    47: "test_sse.py::test_lines_may_end_in_any_way",
    48: "test_sse.py::test_one_leading_byte_order_mark_is_removed",
    49: "test_sse.py::test_one_space_after_the_colon_belongs_to_the_format",
    50: f"{TEXT}::test_heartbeats_mean_nothing",
    51: "test_sse.py::test_comments_leave_nothing_behind",
    52: f"{TEXT}::test_the_last_event_counts_only_if_it_is_whole",
    54: f"{FINISH}::test_the_sentinel_ends_reading",
    55: f"{CUTS}::test_in_the_middle_of_a_call",
    56: f"{FINISH}::test_without_a_sentinel",
    57: f"{MESSAGES}::TestFaults::test_an_error_in_a_stream_is_of_a_kind",
    58: f"{MESSAGES}::TestFaults::test_an_error_may_be_all_there_is",
    59: f"{INSIDE}::test_of_a_stream",
    60: f"{INSIDE}::test_beside_a_finish_reason",
    61: f"{INSIDE}::test_of_a_response_in_one_piece",
    62: f"{INSIDE}::test_are_told_before_a_retry",
    63: f"{STATUSES}::test_of_a_text_that_was_too_long",
    64: f"{STATUSES}::test_of_what_failed",
    65: f"{STATUSES}::test_of_a_call_that_was_too_long",
    66: f"{STATUSES}::test_of_a_call_that_was_too_long",
    69: f"{MESSAGES}::TestThinking::test_a_signature_in_two_pieces_is_one",
    70: f"{MESSAGES}::TestThinking::test_what_it_begins_with_counts",
    72: f"{REFUSALS}::test_without_a_word_are_faults",
    73: f"{REFUSALS}::test_come_in_pieces",
    74: f"{REFUSALS}::test_stand_beside_text",
    75: f"{MESSAGES}::TestUsage::test_the_last_count_holds",
    76: f"{MESSAGES}::TestUsage::test_null_is_no_count_and_nought_is_one",
    77: f"{USAGE}::test_counts_up",
    79: f"{CALLS}::test_an_empty_list_of_calls_is_none",
    80: f"{FINISH}::test_of_tools_without_calls",
    81: f"{FINISH}::test_of_calls",
}
"""Kind b: what servers say, and how it is cut."""

TRANSPORT: Final = {
    169: "test_run.py::test_two_runs_of_one_interpreter_know_nothing_of_each_other",
    170: "test_beginnings.py::test_requests_that_are_made_at_once_do_not_mix",
    171: "test_beginnings.py::test_requests_that_are_made_at_once_do_not_mix",
    173: "test_stream.py"
    "::test_a_stream_may_be_read_by_another_task_than_the_one_that_made_it",
    174: "test_interpreter.py"
    "::test_a_sync_tool_sees_the_callers_context_and_leaks_nothing_back",
    175: f"{CONNECTIONS}::test_do_not_outlive_their_loop",
    176: "test_run.py::test_a_tool_in_a_thread_may_run_another_run",
    177: f"{CONNECTIONS}::test_are_enough_for_many_at_once",
    179: f"{CONNECTIONS}::test_are_used_again",
    180: "test_faults.py::test_a_pause_until_a_date_is_rounded_up",
    181: "test_faults.py::test_a_pause_is_in_seconds_or_until_a_date",
    182: "test_transport.py::TestFaults::test_of_the_server_have_all_that_it_said",
}
"""Kind g: many at once, connections, and when to come again."""

SPEED: Final = {
    183: "test_chat_decode.py::test_long_arguments_take_time_in_proportion",
}
"""Of kind h, what is about reading."""
