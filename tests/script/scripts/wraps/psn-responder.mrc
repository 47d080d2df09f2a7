# The peer's PSNs wrap: the window goes on, a hole over the wrap is filled, old PSNs are duplicates.
# REQ(rsp.window.range) REQ(rsp.window.duplicate-below)
config peer_psn 16777214

< WRITE ONLY psn 1 msn 3 len 8 ackreq
> SACK cack 16777213 map 0b1000 trigger 1
< WRITE ONLY psn 16777214 msn 0 len 8
> ACK msn 1
< WRITE ONLY psn 0 msn 2 len 8 ackreq
> SACK cack 16777214 map 0b110 trigger 0
< WRITE ONLY psn 16777215 msn 1 len 8 ackreq
> SACK cack 1 map 0 trigger 16777215
> ACK msn 4
< WRITE ONLY psn 16777215 msn 1 len 8
> SACK cack 1 map 0 trigger 16777215
> ACK msn 4
expect stat rx_duplicates 1
