import type { Page } from 'playwright-core'

/**
 * Runs in the page: texts, buttons and fields of which a part is left or right of what can be seen or scrolled to.
 * A text that ends with an ellipsis is not meant if its whole text is in a `title`.
 */
const FIND = `(() => {
  const MAX_PX = 1.5
  const found = []
  const isScrollable = ({ overflowX }) => overflowX === 'auto' || overflowX === 'scroll'
  const isHidden = (element) => element.closest('.visually-hidden, [hidden], .skip-link, dialog:not([open])') !== null
  // Under an open dialog, the page cannot be used.
  const root = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document.body
  function check(element, rect, text) {
    if (rect.width === 0 || rect.height === 0) return
    for (let parent = element; parent; parent = parent.parentElement) {
      const style = getComputedStyle(parent)
      // Only for screen readers.
      if (isScrollable(style) || style.clipPath === 'inset(50%)') return
      if (style.overflowX === 'visible' && parent !== document.documentElement) continue
      const clip = parent === document.documentElement ? { left: 0, right: innerWidth } : parent.getBoundingClientRect()
      if (rect.right <= clip.right + MAX_PX && rect.left >= clip.left - MAX_PX) continue
      if (style.textOverflow === 'ellipsis' && parent.closest('[title]')) return
      found.push(text.trim().slice(0, 60) + ' (' + parent.tagName + '.' + parent.className + ')')
      return
    }
  }
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.data.trim() === '' || isHidden(node.parentElement)) continue
    const range = document.createRange()
    range.selectNodeContents(node)
    for (const rect of range.getClientRects()) check(node.parentElement, rect, node.data)
  }
  for (const field of root.querySelectorAll('button, input, select, textarea, a')) {
    if (isHidden(field)) continue
    if (field.tagName === 'INPUT' && field.type === 'hidden') continue
    check(field.parentElement, field.getBoundingClientRect(), field.tagName + ' ' + (field.textContent || field.name || field.id))
  }
  for (const cell of root.querySelectorAll('th')) {
    const isShown = cell.closest('table').getClientRects().length > 0 && !isHidden(cell)
    if (isShown && cell.getClientRects().length === 0) found.push('column ' + cell.textContent)
  }
  return [...new Set(found)]
})()`

/** What of the page nobody can see whole, as texts with what cuts them off; columns that are not shown. */
export const findCutOff = (page: Page): Promise<string[]> => page.evaluate(FIND)
