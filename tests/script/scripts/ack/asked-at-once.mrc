# What asks is answered at once: the ACK does not wait where a SACK leaves anyway, and one that waits leaves
# with the next answer. REQ(rsp.ack.held)
config ack_hold 10us sack_in_order_bytes 65536

< WRITE ONLY psn 100 msn 0 len 8 ackreq
> SACK cack 100 trigger 100
> ACK msn 1 psn 100
< WRITE ONLY psn 101 msn 1 len 8
expect nothing for 1us
< PROBE probe 7
> SACK cack 101 probe 7
> ACK msn 2 psn 101
expect nothing for 20us
