/** The name of a type in PascalCase for any text: `redact-pii` → `RedactPii`. Starts with a letter. */
export function toTypeName(text: string): string {
  const words = text.match(/[A-Za-z0-9]+/g) ?? []
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
  return /^[A-Z]/.test(name) ? name : `Type${name}`
}

/** Adds the name to the taken ones; with a number if it is taken. */
export function takeName(name: string, taken: Set<string>): string {
  let free = name
  for (let number = 2; taken.has(free); number += 1) free = `${name}${number}`
  taken.add(free)
  return free
}
