# Received packets were lost for want of buffers: for one period (100us) every SACK asks for half the
# window; behind a short episode SACKs say that the window may be restored.
# REQ(rsp.pressure.penalty) REQ(wire.ccstate.layout)
config pressure 100us

< WRITE ONLY psn 100 msn 0 len 4 ackreq
> SACK cack 100 pen 0 !restore
> ACK msn 1
overflow 3
+10us < WRITE ONLY psn 101 msn 1 len 4 ackreq
> SACK cack 101 pen 64 !restore
> ACK msn 2
+89us < WRITE ONLY psn 102 msn 2 len 4 ackreq
> SACK cack 102 pen 64 !restore
> ACK msn 3
+1us < WRITE ONLY psn 103 msn 3 len 4 ackreq
> SACK cack 103 pen 0 restore
> ACK msn 4
