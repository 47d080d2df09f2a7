# Trigger 4: a retransmission; the SACK carries rtx.
# REQ(rsp.sack.trigger.rtx) REQ(wire.bth.sack-rtx) REQ(rsp.sack.reflect-time)
config planes 1

< WRITE ONLY psn 101 msn 1 len 4 rtx ts 777
> SACK cack 99 map 0b10 trigger 101 ts 777 rtx
