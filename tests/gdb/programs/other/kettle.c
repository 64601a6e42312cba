#include "../kettle.h"

int openings;
static int alarms = 7;

static int alarm(int amount) {
  alarms -= amount;
  return alarms;
}

int lid_open(struct kettle *k) {
  openings++;
  if (k->mode == BOIL)
    return alarm(1);
  return clip(k->degrees, 50);
}

int lid_close(struct kettle *k, int hard) {
  int noise = hard ? 10 : 1;
  noise += alarm(noise);
  return noise;
}
