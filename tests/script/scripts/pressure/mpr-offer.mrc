# With dynamic MPR a SACK offers what the receive buffers hold, half of that after an overflow, and more
# again as time goes by. What was sent under the larger offer is still taken.
# REQ(rsp.mpr.dynamic) REQ(wire.seth.mpr)
config dynamic_mpr on mpr_dest 8 pressure 100us

< WRITE ONLY psn 100 msn 0 len 4 ackreq
> SACK mpr 8
> ACK msn 1
capacity 512
< WRITE ONLY psn 101 msn 1 len 4 ackreq
> SACK mpr 4
> ACK msn 2
overflow 1
< WRITE ONLY psn 102 msn 2 len 4 ackreq
> SACK mpr 2
> ACK msn 3
< WRITE ONLY psn 1000 msn 900 len 4 ackreq
> SACK cack 102 trigger 1000
+10ms < WRITE ONLY psn 103 msn 3 len 4 ackreq
> SACK mpr 4
> ACK msn 4
