# A long stream in order: a SACK after each five small packets, cack always the newest, nothing ahead.
# REQ(rsp.sack.trigger.bytes) REQ(rsp.window.range) REQ(wire.seth.cack)
config mpr_dest 1

ignore ACK PROBE
< WRITE ONLY psn 100..104 msn 0..4 len 8
> SACK cack 104 map 0 ooo 0 trigger 104
< WRITE ONLY psn 105..109 msn 5..9 len 8
> SACK cack 109 map 0 ooo 0 trigger 109
< WRITE ONLY psn 110..227 msn 10..127 len 8
> SACK cack 114
> SACK cack 119
ignore ACK PROBE SACK
< WRITE ONLY psn 228..400 msn 128..300 len 8
expect stat rx_data_packets 301
expect stat drop_far_psn 0
