export type TextStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>

/** Browsers that block storage throw. */
export function openStorage(name: 'sessionStorage' | 'localStorage'): TextStorage | null {
  try {
    return window[name]
  } catch {
    return null
  }
}

/** Null if there is none, or the browser does not say. */
export function readText(storage: TextStorage | null, key: string): string | null {
  try {
    return storage?.getItem(key) ?? null
  } catch {
    return null
  }
}

/** Stores a text, or (null) removes it. @returns false if the browser has no room, or does not allow it */
export function writeText(storage: TextStorage | null, key: string, text: string | null): boolean {
  try {
    if (text === null) storage?.removeItem(key)
    else storage?.setItem(key, text)
    return storage !== null
  } catch {
    return false
  }
}

/** The keys that begin with a prefix. */
export function keysOf(storage: TextStorage | null, prefix: string): string[] {
  try {
    const { length } = storage ?? { length: 0 }
    const keys = Array.from({ length }, (_, index) => storage?.key(index) ?? '')
    return keys.filter((key) => key.startsWith(prefix))
  } catch {
    return []
  }
}
