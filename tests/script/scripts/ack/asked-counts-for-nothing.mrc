# An ACK that leaves with a SACK that was asked for, and one for a duplicate, say nothing about replies: they leave at
# once, and the next that may wait does as if they had not been. REQ(rsp.ack.held)
config ack_hold 10us sack_bytes 1000000 sack_in_order_bytes 2000000

< WRITE ONLY psn 100 msn 0 len 8
+5us..10us > ACK msn 1 psn 100                    # in vain: the next does not wait
< WRITE ONLY psn 101 msn 1 len 8 ackreq
> SACK cack 101 trigger 101
> ACK msn 2 psn 101
< WRITE ONLY psn 102 msn 2 len 8
> ACK msn 3 psn 102                               # this is the next
< WRITE ONLY psn 102 msn 2 len 8
> SACK cack 102 trigger 102
> ACK msn 3 psn 102
< WRITE ONLY psn 103 msn 3 len 8
+5us..10us > ACK msn 4 psn 103                    # in vain: the next three do not wait
expect nothing for 1us
< WRITE ONLY psn 100 msn 0 len 8
> SACK cack 103 trigger 100
> ACK msn 4 psn 103
< WRITE ONLY psn 104 msn 4 len 8
> ACK msn 5 psn 104
< WRITE ONLY psn 105 msn 5 len 8
> ACK msn 6 psn 105
< WRITE ONLY psn 106 msn 6 len 8
> ACK msn 7 psn 106
< WRITE ONLY psn 107 msn 7 len 8
+5us..10us > ACK msn 8 psn 107
