import { format } from '@cfworker/json-schema'
import type { Matcher } from '../patterns/compile-pattern.ts'
import { LINEAR_FORMATS } from './linear-formats.ts'

Object.assign(format, LINEAR_FORMATS)

/** Runs the validator with the formats of one schema: its formats are global, so they exist only while they are in use. */
export function withFormats<T>(formats: Record<string, Matcher>, run: () => T): T {
  Object.assign(format, formats)
  try {
    return run()
  } finally {
    for (const name in formats) delete format[name]
  }
}
