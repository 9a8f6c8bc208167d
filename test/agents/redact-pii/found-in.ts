import type { Detector } from '../../../agents/redact-pii/entity.ts'

/** What the detector finds, as text. */
export const foundIn = (detect: Detector, text: string): string[] =>
  detect(text).map(({ start, end }) => text.slice(start, end))

/** `[text, what is found in it]` */
export type Case = [text: string, found: string[]]
