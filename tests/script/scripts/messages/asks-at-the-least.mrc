# A quarter of the window, 32 of 128 packets, asks for a SACK where it is as many bytes as a peer like us takes in
# before it sends one, and these are enough. REQ(req.ask.window)
config sack_bytes 32768 sack_in_order_bytes 1000000 evs 1 mpr 1

post write 1024 bytes id 1
> WRITE ONLY psn 100 ackreq
+10us < SACK cack 100
< ACK msn 1 psn 100
expect completion id 1 success
post write 66560 bytes id 2
> WRITE FIRST psn 101 !ackreq
> WRITE MIDDLE psn 102..131 !ackreq
> WRITE MIDDLE psn 132 ackreq
> WRITE MIDDLE psn 133..163 !ackreq
> WRITE MIDDLE psn 164 ackreq
> WRITE LAST psn 165 ackreq
