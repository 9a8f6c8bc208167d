const EXTENSION =
  /(?:[ \u00a0]{0,2}[,;]?[ \u00a0]{0,2}(?:extension|ext|x)[.:]?[ \u00a0]{0,2}[0-9]{1,7}|;ext=[0-9]{1,7}|[ \u00a0]?#[0-9]{1,6})(?![A-Za-z0-9])/iy

/** Returns the end of the extension of a phone number (`ext. 12`, `x12`, RFC 3966 `;ext=12`), or `end` without one. */
export function findExtensionEnd(text: string, end: number): number {
  EXTENSION.lastIndex = end
  return EXTENSION.test(text) ? EXTENSION.lastIndex : end
}
