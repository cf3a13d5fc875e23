// Loaded before the system: its clock is that of the machine, shifted by what the file of this variable says, in ms. SIGUSR2 says that
// the file has changed, and a line of the output that it was read. Timers and `performance` go on as if nothing had happened, as they do when a person sets the clock.
const { readFileSync } = require('node:fs');

const MachineDate = Date;
const file = process.env.SHIFTED_CLOCK_FILE;
let shiftMs = Number(readFileSync(file, 'utf8'));

globalThis.Date = class Date extends MachineDate {
  constructor(...args) {
    if (args.length === 0) super(MachineDate.now() + shiftMs);
    else super(...args);
  }

  static now() {
    return MachineDate.now() + shiftMs;
  }
};
process.on('SIGUSR2', () => {
  shiftMs = Number(readFileSync(file, 'utf8'));
  process.stdout.write(`${JSON.stringify({ event: 'clock-set', shiftMs })}\n`);
});
