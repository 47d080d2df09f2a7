# Where answers are few, each quarter of the window asks for a SACK: here 32 of 128 packets, which are less
# than sack_in_order_bytes. While nothing is known of an EV, every second packet on it asks.
# REQ(req.ask.window)
config sack_bytes 4096 sack_in_order_bytes 1000000 evs 1 mpr 1

post write 3072 bytes id 1
> WRITE FIRST psn 100 !ackreq
> WRITE MIDDLE psn 101 ackreq
> WRITE LAST psn 102 ackreq
+10us < SACK cack 102
< ACK msn 1 psn 102
expect completion id 1 success
post write 66560 bytes id 2                       # 65 packets
> WRITE FIRST psn 103 !ackreq
> WRITE MIDDLE psn 104..133 !ackreq
> WRITE MIDDLE psn 134 ackreq
> WRITE MIDDLE psn 135..165 !ackreq
> WRITE MIDDLE psn 166 ackreq
> WRITE LAST psn 167 ackreq
