import type { AnchorHTMLAttributes } from 'preact'
import { mayHide, splitHidden } from './hidden-characters.ts'

export { toVisible } from './hidden-characters.ts'

type Props = { text: string; class?: string | undefined }

/**
 * A text of somebody else. Its direction is its own: it does not change the order of what is around it. Characters that
 * are not seen are shown.
 */
export const VisibleText = ({ text, class: className }: Props) => (
  <bdi class={className}>
    <VisibleParts text={text} />
  </bdi>
)

/** A link whose text may be that of somebody else. */
export const TextLink = ({ text, ...link }: AnchorHTMLAttributes<HTMLAnchorElement> & { text: string }) => (
  <a {...link}>
    <VisibleText text={text} />
  </a>
)

/** A paragraph of it; nothing if there is none. */
export const Paragraph = ({ text, class: className }: { text: string | null | undefined; class: string }) =>
  text ? (
    <p class={className}>
      <VisibleText text={text} />
    </p>
  ) : null

type AfterProps = { before?: string; text: string | null | undefined }

/** A text that follows another one; nothing if there is none. */
export const TextAfter = ({ before = ': ', text }: AfterProps) =>
  text ? (
    <>
      {before}
      <VisibleText text={text} />
    </>
  ) : null

/** A text of somebody else, within an element that isolates its direction. */
export const VisibleParts = ({ text }: { text: string }) => (
  <>
    {mayHide(text)
      ? splitHidden(text).map((part, index) =>
          typeof part === 'string' ? (
            part
          ) : (
            <span key={index} class="hidden-character" title={part.name}>
              {part.label}
            </span>
          ),
        )
      : text}
  </>
)
