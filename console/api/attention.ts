const USES = ['focus', 'pointerdown', 'keydown']

/** `onUse`: somebody comes back to the page, or does something on it. `onHide`: nobody can see it any more. */
export type Attention = { onUse: () => void; onHide: () => void }

/** @returns ends it */
export function watchAttention({ onUse, onHide }: Attention): () => void {
  const follow = () => (document.hidden ? onHide() : onUse())
  for (const name of USES) window.addEventListener(name, follow, { passive: true })
  document.addEventListener('visibilitychange', follow)
  return () => {
    for (const name of USES) window.removeEventListener(name, follow)
    document.removeEventListener('visibilitychange', follow)
  }
}
