# A NACK for a trim in the middle: the packet goes again at once on another EV, and its EV is skipped once,
# turn. It is then used again: nothing was lost on it without notice.
# REQ(req.ev.trim-skips) REQ(req.loss.nack) REQ(req.ev.skip-once)
config evs 2

room none
post write 1024 bytes id 1
room all
> WRITE ONLY psn 100 ev A
+5us < NACK psn 100 reason trimmed
> WRITE ONLY psn 100 rtx ev !A
expect no_event
post write 4096 bytes id 2
> WRITE FIRST psn 101
> WRITE MIDDLE psn 102..103
> WRITE LAST psn 104
expect ev A GOOD
expect stat evs_skipped 1
expect stat evs_retired 0
+10us < SACK cack 104
< ACK msn 2
expect completion id 1..2 success
