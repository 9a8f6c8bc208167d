import { createStore, useStore } from '../../state/store.ts'

const message = createStore('')

/** Says something to users of screen readers, for example that a button has done its work. */
export function announce(text: string): void {
  // The same text twice is only read twice if it changes in between.
  message.set('')
  setTimeout(() => message.set(text), 50)
}

export function Announcer() {
  return (
    <div class="visually-hidden" role="status">
      {useStore(message)}
    </div>
  )
}
