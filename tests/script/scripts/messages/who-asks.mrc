# Where answers are few, the end of a message asks for a SACK only where nothing else tells: not while
# another message follows, and not for a message of one packet before which all has arrived, whose
# transport ACK says as much, but once in a while for the round trip. sack_in_order_bytes ask in any case.
# REQ(req.ask.end) REQ(req.ask.window)
config sack_bytes 3072 sack_in_order_bytes 4096 evs 1 tail_probe 20us timeout 8

post write 8 bytes id 1
> WRITE ONLY psn 100 ackreq                       # no round trip is known
+10us < SACK cack 100
< ACK msn 1 psn 100
expect completion id 1 success
post write 8 bytes id 2
> WRITE ONLY psn 101 !ackreq
+10us < ACK msn 2 psn 101
expect completion id 2 success

hold
post write 8 bytes id 3
post write 1024 bytes id 4
post write 2048 bytes id 5
go
> WRITE ONLY psn 102 !ackreq                      # more follows
> WRITE ONLY psn 103 !ackreq
> WRITE FIRST psn 104 ackreq                      # the fourth that does not ask
> WRITE LAST psn 105 ackreq                       # the last of all
+10us < SACK cack 105
< ACK msn 5 psn 105
expect completion id 3..5 success

+330us post write 8 bytes id 6                    # half of 32 x 20us has passed since the last SACK
> WRITE ONLY psn 106 ackreq
+10us < SACK cack 106
< ACK msn 6 psn 106
expect completion id 6 success
