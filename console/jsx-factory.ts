/** What TSX is compiled to: calls of `h` take 1 % less of the script than those of the automatic runtime. */
export { Fragment, h } from 'preact'
