# A NACK for what was never sent is counted and changes nothing. REQ(req.loss.nack)
config evs 4

post write 8 bytes id 1
> WRITE ONLY psn 100
< NACK psn 101 reason trimmed ev 0
< NACK psn 99 reason trimmed ev 0
expect nothing for 10us
expect stat drop_bogus_ack 1..2
< ACK msn 1
expect completion id 1 success
