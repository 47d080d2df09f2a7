# After six waits in vain and after more, 63 ACKs do not wait. REQ(rsp.ack.held)
config ack_hold 10us sack_bytes 1000000 sack_in_order_bytes 2000000 evs 1

< WRITE ONLY psn 100 msn 0 len 8
+5us..10us > ACK msn 1
< WRITE ONLY psn 101 msn 1 len 8
> ACK msn 2
< WRITE ONLY psn 102 msn 2 len 8
+5us..10us > ACK msn 3
< WRITE ONLY psn 103..105 msn 3..5 len 8
> ACK msn 4..6
< WRITE ONLY psn 106 msn 6 len 8
+5us..10us > ACK msn 7
< WRITE ONLY psn 107..113 msn 7..13 len 8
> ACK msn 8..14
< WRITE ONLY psn 114 msn 14 len 8
+5us..10us > ACK msn 15
< WRITE ONLY psn 115..129 msn 15..29 len 8
> ACK msn 16..30
< WRITE ONLY psn 130 msn 30 len 8
+5us..10us > ACK msn 31
< WRITE ONLY psn 131..161 msn 31..61 len 8
> ACK msn 32..62
< WRITE ONLY psn 162 msn 62 len 8
+5us..10us > ACK msn 63                           # the sixth
< WRITE ONLY psn 163..225 msn 63..125 len 8
> ACK msn 64..126
< WRITE ONLY psn 226 msn 126 len 8
+5us..10us > ACK msn 127
< WRITE ONLY psn 227..289 msn 127..189 len 8
> ACK msn 128..190
< WRITE ONLY psn 290 msn 190 len 8
+5us..10us > ACK msn 191
