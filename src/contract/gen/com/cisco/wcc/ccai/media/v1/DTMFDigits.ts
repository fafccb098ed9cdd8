// Original file: proto/byova_common.proto

/**
 * Keys of a phone. Zero is 10, not 0: map by name, never by arithmetic (G-66).
 */
export const DTMFDigits = {
  DTMF_EVENT_UNSPECIFIED: 0,
  DTMF_DIGIT_ONE: 1,
  DTMF_DIGIT_TWO: 2,
  DTMF_DIGIT_THREE: 3,
  DTMF_DIGIT_FOUR: 4,
  DTMF_DIGIT_FIVE: 5,
  DTMF_DIGIT_SIX: 6,
  DTMF_DIGIT_SEVEN: 7,
  DTMF_DIGIT_EIGHT: 8,
  DTMF_DIGIT_NINE: 9,
  DTMF_DIGIT_ZERO: 10,
  DTMF_DIGIT_A: 11,
  DTMF_DIGIT_B: 12,
  DTMF_DIGIT_C: 13,
  DTMF_DIGIT_D: 14,
  DTMF_DIGIT_STAR: 15,
  DTMF_DIGIT_POUND: 16,
} as const;

/**
 * Keys of a phone. Zero is 10, not 0: map by name, never by arithmetic (G-66).
 */
export type DTMFDigits =
  | 'DTMF_EVENT_UNSPECIFIED'
  | 0
  | 'DTMF_DIGIT_ONE'
  | 1
  | 'DTMF_DIGIT_TWO'
  | 2
  | 'DTMF_DIGIT_THREE'
  | 3
  | 'DTMF_DIGIT_FOUR'
  | 4
  | 'DTMF_DIGIT_FIVE'
  | 5
  | 'DTMF_DIGIT_SIX'
  | 6
  | 'DTMF_DIGIT_SEVEN'
  | 7
  | 'DTMF_DIGIT_EIGHT'
  | 8
  | 'DTMF_DIGIT_NINE'
  | 9
  | 'DTMF_DIGIT_ZERO'
  | 10
  | 'DTMF_DIGIT_A'
  | 11
  | 'DTMF_DIGIT_B'
  | 12
  | 'DTMF_DIGIT_C'
  | 13
  | 'DTMF_DIGIT_D'
  | 14
  | 'DTMF_DIGIT_STAR'
  | 15
  | 'DTMF_DIGIT_POUND'
  | 16

/**
 * Keys of a phone. Zero is 10, not 0: map by name, never by arithmetic (G-66).
 */
export type DTMFDigits__Output = typeof DTMFDigits[keyof typeof DTMFDigits]
