# Trigger 2: the packet asks for it. REQ(rsp.sack.trigger.ackreq)
config planes 2

< WRITE ONLY psn 101 msn 1 len 4
expect nothing
< WRITE ONLY psn 102 msn 2 len 4 ackreq ev 5 plane 1
> SACK cack 99 map 0b110 ooo 2 trigger 102 ev 5 ts echo plane 1 !rtx
