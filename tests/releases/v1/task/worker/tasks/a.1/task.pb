
$14bb5da4-f606-4e9c-8ade-99eae43ce407
a"
*<2cpu:0B2:
