import type { Detector } from '../../../agents/redact-pii/entity.ts'

/** Runs the detector and returns the matches as text. */
export const findTexts = (detect: Detector, text: string): string[] =>
  detect(text).map(({ start, end }) => text.slice(start, end))

export type Case = [text: string, expected: string[]]
