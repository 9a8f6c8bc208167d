import type { ScalarTag, Tags } from 'yaml'
import { ExactNumber, fitsDouble } from '../../lib/core/exact-number.ts'

/** The numbers of JSON (RFC 8259, section 6). */
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** A number that a double would change is read, and written, as an `ExactNumber`. */
const exactNumber: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  identify: (value) => value instanceof ExactNumber,
  test: JSON_NUMBER,
  resolve(text, onError) {
    if (fitsDouble(text)) return Number(text)
    if (!Number.isFinite(Number(text))) onError(`the number ${text} is beyond the range of a double`)
    return new ExactNumber(text)
  },
  stringify: ({ value }) => String(value),
}

/** Options of the `yaml` package for values as they are sent: no digit of a number changes in silence. */
export const EXACT_YAML = { customTags: (tags: Tags): Tags => [exactNumber, ...tags] }
