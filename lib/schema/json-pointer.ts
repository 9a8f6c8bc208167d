const MAX_CHARACTERS = 256

/** A JSON Pointer (RFC 6901), cut when names from outside make it long: reports of what is wrong stay small. */
export function pointerOf(names: readonly string[]): string {
  return shortened(names.map((name) => `/${escaped(name)}`).join(''), MAX_CHARACTERS)
}

/** A text for people to read: cut at `most` characters, never within one. */
export function shortened(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max).replace(/[\uD800-\uDBFF]$/, '')}…` : text
}

/** RFC 6901, section 4. */
const escaped = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1')
