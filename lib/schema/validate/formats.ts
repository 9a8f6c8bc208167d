import { format } from '@cfworker/json-schema'
import type { Matcher } from '../patterns/compile-pattern.ts'

/** The label of a host name: letters and digits, with single hyphens between them. */
const LABEL = '[a-z\\u{a1}-\\u{ffff}0-9]+(?:-[a-z\\u{a1}-\\u{ffff}0-9]+)*'

/**
 * The validator's regular expression for `url`, rewritten without its ambiguities: `(?:x+-?)*x+` and `\\S+(?::\\S*)?@`
 * match the same texts in many ways, which takes exponential time.
 */
const URL = new RegExp(
  [
    '^(?:https?|ftp)://(?:\\S+@)?',
    '(?:(?!10(?:\\.\\d{1,3}){3})(?!127(?:\\.\\d{1,3}){3})(?!169\\.254(?:\\.\\d{1,3}){2})(?!192\\.168(?:\\.\\d{1,3}){2})',
    '(?!172\\.(?:1[6-9]|2\\d|3[0-1])(?:\\.\\d{1,3}){2})',
    '(?:[1-9]\\d?|1\\d\\d|2[01]\\d|22[0-3])(?:\\.(?:1?\\d{1,2}|2[0-4]\\d|25[0-5])){2}',
    '(?:\\.(?:[1-9]\\d?|1\\d\\d|2[0-4]\\d|25[0-4]))',
    `|${LABEL}(?:\\.${LABEL})*\\.[a-z\\u{a1}-\\u{ffff}]{2,})`,
    '(?::\\d{2,5})?(?:/\\S*)?$',
  ].join(''),
  'iu',
)

/** Replacements for formats of the validator that do not take linear time. */
export const LINEAR_FORMATS: Record<string, Matcher> = { url: (text) => URL.test(text) }

Object.assign(format, LINEAR_FORMATS)

/** Runs the validator with the formats of one schema: they are global, so they exist only while they are in use. */
export function withFormats<T>(formats: Record<string, Matcher>, run: () => T): T {
  Object.assign(format, formats)
  try {
    return run()
  } finally {
    for (const name in formats) delete format[name]
  }
}
