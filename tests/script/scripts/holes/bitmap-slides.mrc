# The responder's bitmap begins behind cack and slides up when what has arrived spreads over more
# than 64 PSNs. SACKs then take turns between the newest PSNs and older holes: of two in a row one
# names the newest.
# REQ(rsp.sack.bitmap-slides) REQ(rsp.sack.ooo-count) REQ(wire.seth.bitmap-order)
config planes 1

< WRITE ONLY psn 101 msn 1 len 8 ackreq
> SACK cack 99 offset 1 map 0b10 ooo 1 trigger 101
< WRITE ONLY psn 163 msn 63 len 8 ackreq
> SACK cack 99 offset 1 map 0x8000000000000002 ooo 2 trigger 163
< WRITE ONLY psn 400 msn 300 len 8 ackreq
> SACK cack 99 offset 1 map 0x8000000000000002 ooo 3 trigger 400
< WRITE ONLY psn 400 msn 300 len 8 ackreq
> SACK cack 99 offset 238 map 0x8000000000000000 ooo 3 trigger 400       # 337..400
< WRITE ONLY psn 100 msn 0 len 8 ackreq
> SACK cack 101 ooo 2 trigger 100
> ACK msn 2
