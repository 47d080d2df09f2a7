# A NACK is about one transmission. One that names the EV of an earlier one, or a packet that has
# arrived, changes nothing.
# REQ(req.loss.nack)
config evs 4

post write 1024 bytes id 1
> WRITE ONLY psn 100 ev A
+5us < NACK psn 100 reason trimmed
> WRITE ONLY psn 100 rtx ev B
< NACK psn 100 reason trimmed ev A
expect nothing
+5us < SACK cack 100
< NACK psn 100 reason trimmed ev B
expect nothing
< ACK msn 1
expect completion id 1 success
