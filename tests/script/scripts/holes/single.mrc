# One hole. A PSN that a SACK reports missing is lost only when the packet that triggered the SACK
# was sent a reorder window (5us) after it, on whatever EV. It then goes again at once, marked as a
# retransmission, on another EV, with the same message number and address; its EV is bad.
# REQ(req.loss.explicit) REQ(req.rtx.flag) REQ(req.rtx.other-ev) REQ(req.rtx.same-packet)
# REQ(req.ev.one-loss) REQ(req.rtx.selective)
config evs 4 gap 2us

post write 4096 bytes id 1
> WRITE FIRST psn 100
+2us > WRITE MIDDLE psn 101 at 1024 ev B
+2us > WRITE MIDDLE psn 102
+2us > WRITE LAST psn 103                  # 4us after 101: too early to prove anything
+10us < SACK cack 100 map 0b110 trigger 103
expect ev B GOOD
post write 100 bytes id 2
> WRITE ONLY psn 104
+10us < SACK cack 100 map 0b1110 trigger 104
> WRITE MIDDLE psn 101 msn 0 at 1024 rtx ev !B class retx
expect ev B ASSUMED_BAD
expect event ev B ASSUMED_BAD by loss
+10us < SACK cack 104 trigger 101
< ACK msn 2
expect completion id 1..2 success
