type Events = WindowEventMap & DocumentEventMap & WorkerEventMap
type Listeners = { [Name in keyof Events]?: (event: Events[Name]) => unknown }

/** @returns ends it */
export function listen(target: EventTarget, listeners: Listeners, options?: AddEventListenerOptions) {
  const all = Object.entries(listeners) as [string, EventListener][]
  for (const [name, listener] of all) target.addEventListener(name, listener, options)
  return () => {
    for (const [name, listener] of all) target.removeEventListener(name, listener, options)
  }
}

/** `onUse`: somebody comes back to the page, or does something on it. `onHide`: nobody can see it any more. */
export type Attention = { onUse: () => void; onHide: () => void }

/** @returns ends it */
export function watchAttention({ onUse, onHide }: Attention): () => void {
  const follow = () => (document.hidden ? onHide() : onUse())
  const uses = { focus: follow, pointerdown: follow, keydown: follow }
  return listen(window, { ...uses, visibilitychange: follow }, { passive: true })
}
