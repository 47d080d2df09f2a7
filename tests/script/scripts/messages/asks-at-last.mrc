# However large windows and thresholds are, of 256 packets one asks: no more are counted. REQ(req.ask.window)
config sack_bytes 2000000 sack_in_order_bytes 4000000 evs 1 mpr 255 mtu 1024

post write 1024 bytes id 1
> WRITE ONLY psn 100 ackreq
+10us < SACK cack 100
< ACK msn 1 psn 100
expect completion id 1 success
post write 1048576 bytes id 2
> WRITE FIRST psn 101 !ackreq
> WRITE MIDDLE psn 102..355 !ackreq
> WRITE MIDDLE psn 356 ackreq
> WRITE MIDDLE psn 357..611 !ackreq
> WRITE MIDDLE psn 612 ackreq
> WRITE MIDDLE psn 613..867 !ackreq
> WRITE MIDDLE psn 868 ackreq
> WRITE MIDDLE psn 869..1123 !ackreq
> WRITE LAST psn 1124 ackreq
