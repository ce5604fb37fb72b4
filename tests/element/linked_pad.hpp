// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A pad of a test's own, beside an element: for tests that answer, or send, what no element would.
#pragma once

#include "stream.hpp"

namespace element_test {

/// An active pad that is linked to the element's `src` or `sink`, whichever fits, until it goes. It is to go before
/// what its functions use: the last member of the class that they find as the pad's private data.
class LinkedPad {
 public:
  /// Those that are null are GStreamer's own.
  struct Functions {
    GstPadChainFunction chain = nullptr;
    GstPadEventFunction event = nullptr;
    GstPadQueryFunction query = nullptr;
  };

  LinkedPad(GstElement* element, GstPadDirection direction, gpointer test, const Functions& functions)
      : pad_(gst_pad_new(direction == GST_PAD_SRC ? "upstream" : "downstream", direction)) {
    gst_pad_set_element_private(pad_, test);
    if (functions.chain) gst_pad_set_chain_function(pad_, functions.chain);
    if (functions.event) gst_pad_set_event_function(pad_, functions.event);
    if (functions.query) gst_pad_set_query_function(pad_, functions.query);
    gst_pad_set_active(pad_, TRUE);
    const bool sends = direction == GST_PAD_SRC;
    const Owned<GstPad> other(gst_element_get_static_pad(element, sends ? "sink" : "src"));
    CHECK(gst_pad_link(sends ? pad_ : other.get(), sends ? other.get() : pad_) == GST_PAD_LINK_OK,
          "the test's pad cannot be linked");
  }
  ~LinkedPad() {
    gst_pad_set_active(pad_, FALSE);
    const Owned<GstPad> peer(gst_pad_get_peer(pad_));
    const bool sends = gst_pad_get_direction(pad_) == GST_PAD_SRC;
    if (peer) gst_pad_unlink(sends ? pad_ : peer.get(), sends ? peer.get() : pad_);
    gst_object_unref(pad_);
  }
  LinkedPad(const LinkedPad&) = delete;
  LinkedPad& operator=(const LinkedPad&) = delete;

  operator GstPad*() const { return pad_; }

 private:
  GstPad* const pad_;
};

}  // namespace element_test
