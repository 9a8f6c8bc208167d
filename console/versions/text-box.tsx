import { TextPortions } from '../components/json-view.tsx'

/** A text of any length, in a box that scrolls. @param label what it is, for screen readers */
export const TextBox = ({ label, text }: { label: string; text: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboards can only scroll what has the focus.
  <section class="version-text" aria-label={label} tabIndex={0}>
    <pre>
      <TextPortions text={text} />
    </pre>
  </section>
)
