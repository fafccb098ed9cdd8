// A dentist's calendar in memory. As a real one it takes its time, and the same request books once.
import { setTimeout as pause } from 'node:timers/promises';

const free = new Set(['tuesday at nine', 'tuesday at eleven', 'friday at three', 'friday at four']);
const booked = new Map<string, string>();

export const practice = {
  /** Free appointments of a day. */
  slots: (day: string): string[] => [...free].filter((slot) => slot.startsWith(day.toLowerCase())),

  /** @param request - names the booking: the second time it changes nothing. */
  async book(slot: string, request: string): Promise<string> {
    await pause(200);
    const known = booked.get(request);
    if (known !== undefined) return known;
    const result = free.delete(slot.toLowerCase()) ? `booked ${slot}` : `${slot} is not free`;
    booked.set(request, result);
    return result;
  },

  /** Charges a card. @returns the last four digits. */
  charge: (card: string): string => card.slice(-4),
};
