/** What a terminal shows that was not told yet. */
export interface ScreenNews {
  /**
   * `screen`: a full-screen program, with all rows of the screen; `lines`: the lines from the first new one
   * on, wrapped rows joined; `same`: nothing has changed.
   */
  readonly kind: 'screen' | 'lines' | 'same';
  /** Without the blanks at their ends, and without the blank ones at the end. */
  readonly rows: readonly string[];
  /**
   * The place of the cursor among these rows, counted from 1; undefined: it is hidden, or behind all text,
   * where a person expects it.
   */
  readonly cursor: { readonly row: number; readonly column: number } | undefined;
  /** Texts in a look of their own, such as the chosen item of a menu. */
  readonly highlights: readonly string[];
  /** Whether earlier new lines are no longer kept. */
  readonly hasGap: boolean;
}
