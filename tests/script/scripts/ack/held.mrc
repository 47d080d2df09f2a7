# A transport ACK waits for a reply for half of ack_hold to all of it, and leaves in one burst behind it. After a
# wait in vain the next ACK does not wait; a reply makes every ACK wait again.
# REQ(rsp.ack.held)
config ack_hold 10us sack_bytes 1000000 sack_in_order_bytes 2000000

< WRITE ONLY psn 100 msn 0 len 8
expect nothing for 3us
post write 8 bytes id 1                           # the reply
> WRITE ONLY psn 100
> ACK msn 1 psn 100
< SACK cack 100
< ACK msn 1 psn 100
expect completion id 1 success

< WRITE ONLY psn 101 msn 1 len 8
+5us..10us > ACK msn 2 psn 101                    # nobody replied
< WRITE ONLY psn 102 msn 2 len 8
> ACK msn 3 psn 102                               # so this one does not wait
< WRITE ONLY psn 103 msn 3 len 8
+5us..10us > ACK msn 4 psn 103                    # but the one after it; again in vain
< WRITE ONLY psn 104 msn 4 len 8
> ACK msn 5 psn 104
< WRITE ONLY psn 105 msn 5 len 8
> ACK msn 6 psn 105
< WRITE ONLY psn 106 msn 6 len 8
> ACK msn 7 psn 106
< WRITE ONLY psn 107 msn 7 len 8                  # the fourth waits
+1us post write 8 bytes id 2
> WRITE ONLY psn 101
> ACK msn 8 psn 107
< ACK msn 2 psn 101
expect completion id 2 success
< WRITE ONLY psn 108 msn 8 len 8                  # and after a reply every one does
+2us < WRITE ONLY psn 109 msn 9 len 8             # one ACK for both
+3us..8us > ACK msn 10 psn 109
expect nothing for 20us
